-- Registrations for wrk: each a new patient under a new idempotency key. TOKEN, BODY and DOCUMENT_PLACEHOLDER come from
-- the environment, and RUN, which no two runs on the same tables share. The last line printed is the result as JSON.

local KEY_PLACEHOLDER = string.rep("k", 36)
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init()
  local placeholder = os.getenv("DOCUMENT_PLACEHOLDER")
  local message = wrk.format("POST", nil, {
    ["Host"] = wrk.host .. ":" .. wrk.port,
    ["Authorization"] = "Bearer " .. os.getenv("TOKEN"),
    ["Content-Type"] = "application/json",
    ["Idempotency-Key"] = KEY_PLACEHOLDER,
  }, os.getenv("BODY"))
  local key_start, key_end = message:find(KEY_PLACEHOLDER, 1, true)
  local document_start, document_end = message:find(placeholder, 1, true)
  before_key = message:sub(1, key_start - 1)
  before_document = message:sub(key_end + 1, document_start - 1)
  after_document = message:sub(document_end + 1)
  key_prefix = string.format("%08x-%04x-4000-8000-", tonumber(os.getenv("RUN")), number)
  sent = 0
  math.randomseed(os.time() * 1000 + tonumber(os.getenv("RUN")) * 10 + number)
end

function request()
  sent = sent + 1
  local key = key_prefix .. string.format("%012x", sent)
  local document = string.format("%015.0f", math.random(300000000000000, 999999999999999))
  return before_key .. key .. before_document .. document .. after_document
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"completed":%d,"seconds":%.6f,"refused":%d,"broken":%d,"p50Ms":%.3f,"p99Ms":%.3f}\n',
    summary.requests, summary.duration / 1e6, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
