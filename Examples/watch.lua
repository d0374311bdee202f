-- SPDX-License-Identifier: MIT
-- LuaJIT: watch.lua HOST [CHANGES] prints the flags of a host, and those after each change. No callback: the program
-- waits for the run loop, and then gets the targets that changed.

local ffi = require("ffi")

ffi.cdef([[
typedef const struct SCNetworkReachability *SCNetworkReachabilityRef;
typedef struct SCRunLoop *SCRunLoopRef;
int SCError(void);
const char *SCErrorString(int status);
SCNetworkReachabilityRef SCNetworkReachabilityCreateWithName(const void *allocator, const char *name);
void SCNetworkReachabilityRelease(SCNetworkReachabilityRef target);
unsigned char SCNetworkReachabilityGetFlags(SCNetworkReachabilityRef target, uint32_t *flags);
unsigned char SCNetworkReachabilityScheduleWithRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef loop,
                                                       const char *mode);
unsigned char SCNetworkReachabilityUnscheduleFromRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef loop,
                                                         const char *mode);
SCRunLoopRef SCRunLoopCreate(void);
void SCRunLoopRelease(SCRunLoopRef loop);
int SCRunLoopPerform(SCRunLoopRef loop, double seconds);
SCNetworkReachabilityRef SCRunLoopCopyNextChange(SCRunLoopRef loop, uint32_t *flags);
]])
local library = ffi.load("libreachability.so.0")
local DEFAULT_MODE = "kSCRunLoopDefaultMode"

-- Raises a table with the code and its text if a call on this thread failed.
local function check(succeeded)
    if not succeeded then
        local code = library.SCError()
        error({ code = code, text = ffi.string(library.SCErrorString(code)) })
    end
end

-- The garbage collector releases what a call returned with a reference.
local function own(object, release)
    check(object ~= nil)
    return ffi.gc(object, release)
end

-- Calls changed(flags) now and after each change, until that returns false.
local function watch(host, changed)
    local target = own(library.SCNetworkReachabilityCreateWithName(nil, host), library.SCNetworkReachabilityRelease)
    local loop = own(library.SCRunLoopCreate(), library.SCRunLoopRelease)
    local flags = ffi.new("uint32_t[1]")

    check(library.SCNetworkReachabilityScheduleWithRunLoop(target, loop, DEFAULT_MODE) ~= 0)
    check(library.SCNetworkReachabilityGetFlags(target, flags) ~= 0)
    local goes_on = changed(flags[0])
    while goes_on do
        local next_target = library.SCRunLoopCopyNextChange(loop, flags)
        if next_target ~= nil then
            library.SCNetworkReachabilityRelease(next_target)
            goes_on = changed(flags[0])
        else
            check(library.SCRunLoopPerform(loop, -1) >= 0)
        end
    end
    library.SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, DEFAULT_MODE)
end

local host, left = arg[1] or "192.0.2.1", tonumber(arg[2] or math.huge)
local succeeded, failure = pcall(watch, host, function(flags)
    print(("%s: 0x%08x"):format(host, flags))
    io.flush()
    left = left - 1
    return left >= 0
end)
if not succeeded then
    io.stderr:write(failure.text or failure, "\n")
    os.exit(1)
end
