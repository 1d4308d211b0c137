-- Prepared requests for wrk, each sent once and in their order, on one thread. The file REQUESTS has one on each line: method, path
-- below the base URL, idempotency key and body, with tabs between. TOKEN, CONNECTIONS and WARM_UP, how many answers warm up, come from the environment.
-- The last line printed is the result as JSON: `seconds` and `answered` are of the time when every connection was busy, from the
-- end of the warm-up until the last request was sent.

local ffi = require("ffi")
ffi.cdef([[
  struct bench_time { long seconds; long nanoseconds; };
  int clock_gettime(int clock, struct bench_time *time);
  int getpid(void);
  int kill(int pid, int signal);
]])

local MONOTONIC = 1
local SIGINT = 2

local function now()
  local time = ffi.new("struct bench_time")
  ffi.C.clock_gettime(MONOTONIC, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

function setup(thread)
  sender = thread
end

function init()
  local headers = {
    ["Host"] = wrk.host .. ":" .. wrk.port,
    ["Authorization"] = "Bearer " .. os.getenv("TOKEN"),
    ["Content-Type"] = "application/json",
  }
  connections = tonumber(os.getenv("CONNECTIONS"))
  warm_up = tonumber(os.getenv("WARM_UP"))
  messages = {}
  for line in io.lines(os.getenv("REQUESTS")) do
    local method, path, key, body = line:match("^(%u+)\t([^\t]+)\t([^\t]+)\t(.*)$")
    headers["Idempotency-Key"] = key
    messages[#messages + 1] = wrk.format(method, wrk.path .. path, headers, body)
  end
  asked = -1
  answered = #messages - connections - warm_up
  started_at = 0
  ended_at = 0
end

-- wrk asks once for a request that it only looks at, then once for each connection, and again behind each answer. An empty
-- request lets a connection rest. When all of them do, wrk is ended as by Ctrl-C; it would sit out its time otherwise.
function request()
  asked = asked + 1
  if asked == 0 then return messages[1] end
  if asked == warm_up + connections then started_at = now() end
  if asked == #messages then ended_at = now() end
  if asked == #messages + connections then ffi.C.kill(ffi.C.getpid(), SIGINT) end
  return messages[asked] or ""
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '\n{"completed":%d,"refused":%d,"broken":%d,"answered":%d,"seconds":%.6f}\n',
    summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    sender:get("answered"), sender:get("ended_at") - sender:get("started_at")))
end
