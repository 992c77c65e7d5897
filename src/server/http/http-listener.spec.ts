import { createListener } from './http-listener.js';

describe(createListener, () => {
  it.each([
    [30_000, 120_000],
    [600_000, 600_000],
  ])(
    'closes connections without progress: requests of %i ms',
    async (requestTimeoutMs, timeoutMs) => {
      const server = createListener({ tls: null, requestTimeoutMs, trustedProxies: [] });
      expect(server.server.timeout).toBe(timeoutMs);
      await server.close();
    },
  );
});
