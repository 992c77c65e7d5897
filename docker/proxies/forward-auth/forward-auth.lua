-- The action lua.forward_auth of haproxy.cfg: passes a request on if Gatehouse answers 200.

local CREDENTIALS = { "authorization", "sec-websocket-protocol" }
local IDENTITY = { "x-gatehouse-account", "x-gatehouse-session", "x-gatehouse-login" }
local PASSED_ON = { "content-type", "www-authenticate", "retry-after" }
local TIMEOUT_MS = 5000

--- Returns the values of a header as a list. HAProxy counts them from 0.
local function values(headers, name)
  local list = {}
  local index = 0
  local found = headers[name] or {}
  while found[index] ~= nil do
    list[#list + 1] = found[index]
    index = index + 1
  end
  return list
end

local function refuse(txn, status, headers, body)
  local reply = txn:reply({ status = status, body = body })
  for name, value in pairs(headers) do
    reply:add_header(name, value)
  end
  txn:done(reply)
end

core.register_action("forward_auth", { "http-req" }, function(txn, address)
  local headers = { ["x-forwarded-for"] = { txn.f:src() } }
  local sent = txn.http:req_get_headers()
  for _, name in ipairs(CREDENTIALS) do
    local list = values(sent, name)
    if #list > 0 then
      headers[name] = list
    end
  end
  local answer = core.httpclient():get({ url = address, headers = headers, timeout = TIMEOUT_MS })
  local status = answer and answer.status or 0
  if status == 200 then
    for _, name in ipairs(IDENTITY) do
      txn.http:req_set_header(name, values(answer.headers, name)[1] or "")
    end
  elseif status >= 400 and status < 500 then
    local passed = {}
    for _, name in ipairs(PASSED_ON) do
      passed[name] = values(answer.headers, name)[1]
    end
    refuse(txn, status, passed, answer.body)
  else
    -- Without a decision of Gatehouse no request passes.
    refuse(txn, 503, { ["retry-after"] = "5" }, "")
  end
end, 1)
