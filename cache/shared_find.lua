-- SPDX-License-Identifier: Apache-2.0
-- The answer, or else the right to work it out, in one round trip.
-- KEYS: the answer, the lock. ARGV: our token, the lock's life in ms, the largest answer in bytes.
-- Returns the answer; 1: the lock is ours; 0: another holds it.

-- Of another type, or too large to be an answer: it goes, so that it is not read again and again.
-- Any other error, a right that is missing say, tells nothing of the value.
local bytes = redis.pcall('STRLEN', KEYS[1])
if type(bytes) ~= 'number' and not string.find(bytes.err, '^WRONGTYPE') then
    return bytes
elseif type(bytes) ~= 'number' or bytes > tonumber(ARGV[3]) then
    redis.call('UNLINK', KEYS[1])
elseif bytes > 0 then
    return redis.call('GET', KEYS[1])
end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return 1
end
-- No holder of ours takes a lock without an end or for longer: what does is none.
local left = redis.call('PTTL', KEYS[2])
if left < 0 or left > tonumber(ARGV[2]) then
    redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
    return 1
end
return 0
