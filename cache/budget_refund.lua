-- SPDX-License-Identifier: Apache-2.0
-- budget_refund: gives a charge back and forgets it; without its memory nothing happens.
--
-- KEYS  as in budget_take
-- ARGV  one for each window: "m" or "d"
-- Reply 1 given back, 0 not remembered
-- The memory holds the day and the cost of the charge, so that a refund after midnight takes nothing
-- from the new day. Lives stay as they are.
local UNIT, MAX = 60000000, 9007199254740992

local function read(key)
    local value = redis.call('GET', key)
    if not value then
        return nil
    end
    local first, second = string.match(value, '^(%d+) (%d+)$')
    first, second = tonumber(first), tonumber(second)
    if not second or first > MAX or second > MAX then
        error({err = 'BADCOUNTER a counter does not hold two integers'})
    end
    return first, second
end

local day, cost = read(KEYS[1])
if not day then
    return 0
end
local new = {}
for i = 2, #KEYS do
    local first, second = read(KEYS[i])
    if first and ARGV[i - 1] == 'm' then
        new[i] = {first, math.max(0, second - cost * UNIT)}
    elseif first == day then
        new[i] = {first, math.max(0, second - cost)}
    end
end
redis.call('DEL', KEYS[1])
for i, value in pairs(new) do
    redis.call('SET', KEYS[i], string.format('%.0f %.0f', value[1], value[2]), 'KEEPTTL')
end
return 1
