-- SPDX-License-Identifier: Apache-2.0
-- Gives the lock up where it is still ours: after its life it may be another's.
-- KEYS: the lock. ARGV: our token. Returns 1 where it was ours, else 0.
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
