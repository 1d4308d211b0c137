-- Registrations for wrk by many callers in turn, however they are answered. TOKENS is a file with an access token on each line; BODY
-- and DOCUMENT_PLACEHOLDER come from the environment, and RUN, which no two runs on the same tables share. The last line printed is JSON:
-- how many answers there were of each kind, and percentiles of the latency of all.

local only

function setup(thread)
  only = thread
end

function init()
  before, after = {}, {}
  for token in io.lines(os.getenv("TOKENS")) do
    before[#before + 1] = { ["Host"] = wrk.host .. ":" .. wrk.port, ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" }
  end
  placeholder = os.getenv("DOCUMENT_PLACEHOLDER")
  head, tail = os.getenv("BODY"):match("^(.-)" .. placeholder .. "(.*)$")
  key_prefix = string.format("%08x-0000-4000-8000-", tonumber(os.getenv("RUN")))
  sent, served, limited, unavailable, others = 0, 0, 0, 0, 0
  math.randomseed(os.time() * 1000 + tonumber(os.getenv("RUN")))
end

function request()
  sent = sent + 1
  local headers = before[sent % #before + 1]
  headers["Idempotency-Key"] = key_prefix .. string.format("%012x", sent)
  local document = string.format("%015.0f", math.random(300000000000000, 999999999999999))
  return wrk.format("POST", nil, headers, head .. document .. tail)
end

function response(status)
  if status == 201 then served = served + 1
  elseif status == 429 then limited = limited + 1
  elseif status == 503 then unavailable = unavailable + 1
  else others = others + 1 end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"seconds":%.6f,"served":%d,"limited":%d,"unavailable":%d,"others":%d,"broken":%d,"p50Ms":%.3f,"p99Ms":%.3f}\n',
    summary.duration / 1e6, only:get("served"), only:get("limited"), only:get("unavailable"), only:get("others"),
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
