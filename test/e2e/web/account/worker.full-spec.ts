import { startServer } from '../../../fixtures/programs/server-fixture.js';

const server = await startServer();
afterAll(() => server.stop());

describe('the service worker, as it is served', () => {
  it('may load nothing, and is the only worker that the page may run', async () => {
    const answer = await fetch(new URL('/app/worker.js', server.url));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/self|unsafe|https?:/);
    expect(await answer.text()).toMatch(/^const REQUEST_URL=null;\n/);
    const page = await fetch(new URL('/app', server.url));
    const ofPage = page.headers.get('content-security-policy') ?? '';
    expect(ofPage).toContain("worker-src 'self'");
    expect(ofPage).toMatch(/trusted-types gatehouse-worker(;|$)/);
  });
});
