import { judgeWebPushAnswer } from './web-push.sender.js';

describe(judgeWebPushAnswer, () => {
  it.each([
    [403, '{"reason":"BadJwtToken"}', 'web-push-signature', /403 \(BadJwtToken\).*contact.*clock/],
    [400, '{"reason":"VapidPkHashMismatch"}', 'web-push-refused', /\(VapidPkHashMismatch\): the/],
    [403, '{"reason":"BadWebPushTopic"}', 'web-push-refused', /403 \(BadWebPushTopic\)\.$/],
    [403, '{"reason":"a b\\u001b[2J"}', 'web-push-refused', /answered 403: the browser/],
    [403, '{"reason":7}', 'web-push-refused', /answered 403: the browser/],
    [403, `{"reason":"${'A'.repeat(65)}"}`, 'web-push-refused', /answered 403: the browser/],
    [403, 'no JSON', 'web-push-refused', /answered 403: the browser/],
    [403, undefined, 'web-push-refused', /answered 403: the browser/],
    [405, '{"reason":"BadMethod"}', 'push-http-405', /answered 405 \(BadMethod\)\.$/],
  ])('reports the reason of a refusal: %d %s', (status, body, code, detail) => {
    const result = judgeWebPushAnswer({ status, headers: {}, ...(body && { body }) }, 0);
    const reported = { code, detail: expect.stringMatching(detail) as string };
    expect(result).toEqual({ state: 'failed', isTemporary: false, ...reported });
  });
});
