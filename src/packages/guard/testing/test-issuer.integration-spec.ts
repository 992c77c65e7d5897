import { once } from 'node:events';
import { connect } from 'node:net';
import { waitFor } from '../../../../test/helpers/wait.js';
import { startTestIssuer } from '../testing.js';
import { TestIssuer } from './test-issuer.js';

describe(TestIssuer.name, () => {
  it('goes on after a backend that ended during its request', async () => {
    const issuer = await startTestIssuer();
    const socket = connect(Number(new URL(issuer.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST /v1/oauth/token HTTP/1.1\r\nhost: issuer\r\ncontent-length: 9\r\n\r\npart');
    await waitFor('it is received', () => issuer.requestsTo('/v1/oauth/token') === 1);
    socket.destroy();
    const { status } = await fetch(`${issuer.url}/v1/oauth/jwks`);
    expect(status).toBe(200);
    await issuer.close();
  });
});
