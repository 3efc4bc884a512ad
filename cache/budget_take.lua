-- SPDX-License-Identifier: Apache-2.0
-- budget_take: charges one call to all of its windows, or to none.
--
-- KEYS  the charge's memory, then one key for each window
-- ARGV  cost, life of the memory in ms, then three for each window: "m" or "d", limit, burst
-- Reply {2} remembered; else {1 charged or 0 denied, the denying window, its wait in ms, today's
--       number, then what is used of each "d" window}
-- A value is two decimal integers. "m" is a leaky bucket (ITU-T I.371, the continuous-state form of
-- GCRA): when it was written in us, and its level, of which a call of cost 1 is UNIT and which
-- drains `limit` a us. So no division rounds. "d": a day's number and what was used of it.
-- Everything stays below 2^53, where a Lua number is exact.
local UNIT, DAY, MAX = 60000000, 86400000000, 9007199254740992
local HOUR_MS, SLACK_MS = 3600000, 1000

local function read(key)
    local value = redis.call('GET', key)
    if not value then
        return 0, 0
    end
    local first, second = string.match(value, '^(%d+) (%d+)$')
    first, second = tonumber(first), tonumber(second)
    if not second or first > MAX or second > MAX then
        error({err = 'BADCOUNTER a counter does not hold two integers'})
    end
    return first, second
end

local function write(key, first, second, life_ms)
    local value = string.format('%.0f %.0f', first, second)
    redis.call('SET', key, value, 'PX', string.format('%.0f', life_ms))
end

if read(KEYS[1]) > 0 then
    return {2}
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local today = math.floor(now / DAY)
local cost = tonumber(ARGV[1])

-- First pass: read and decide.
local denying, longest = 0, 0
local new, used = {}, {}
for i = 2, #KEYS do
    local kind, limit, burst = ARGV[3 * i - 3], tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1])
    local first, second = read(KEYS[i])
    local wait = 0
    if kind == 'm' then
        -- A level above the burst, and a moment yet to come, count as a full burst and no more.
        local full = burst * UNIT
        local level = math.min(second, full) - (now - first) * limit
        level = math.max(0, math.min(level, full))
        local after = level + cost * UNIT
        wait = math.max(0, math.ceil((after - full) / limit))
        new[i] = {now, after, math.ceil(after / limit / 1000) + SLACK_MS}
        new[i].repaired = first > now and level
    else
        local count = first == today and second or 0
        used[#used + 1] = count
        if count + cost > limit then
            wait = (today + 1) * DAY - now
        end
        new[i] = {today, count + cost, math.ceil(((today + 1) * DAY - now) / 1000) + HOUR_MS}
    end
    if wait > longest then
        denying, longest = i - 1, wait
    end
end

-- Second pass: write. A denied call writes only what a clock that went back would leave full.
local charged = denying == 0
if charged then
    write(KEYS[1], today, cost, tonumber(ARGV[2]))
end
for i = 2, #KEYS do
    if charged then
        write(KEYS[i], new[i][1], new[i][2], new[i][3])
    elseif new[i].repaired then
        write(KEYS[i], new[i][1], new[i].repaired, new[i][3])
    end
end

local reply = {charged and 1 or 0, denying, math.ceil(longest / 1000), today}
for _, count in ipairs(used) do
    reply[#reply + 1] = charged and count + cost or count
end
return reply
