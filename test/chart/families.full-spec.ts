import { networkInterfaces } from 'node:os';
import { startServer, type Server } from '../fixtures/programs/server-fixture.js';
import { helmBinary } from './binaries.js';
import { FEATURES } from './feature-values.js';
import * as chart from './render.js';

/** Containers of Docker have no IPv6 by default. */
const HAS_IPV6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.family === 'IPv6');

let server: Server | null = null;
afterAll(() => server?.stop());

it('serves each address family of the machine with the addresses of the chart', async () => {
  const values = FEATURES['two address families, hooks and labels'];
  const manifests = await chart.manifestsWith(await helmBinary(4), values);
  const config = chart.find(manifests, 'ConfigMap')['data'] as {
    readonly [name: string]: string;
  };
  const { HOST = '', METRICS_HOST = '' } = config;
  server = await startServer({ env: { HOST, METRICS_HOST, METRICS_PORT: '0' } });
  const [, metricsPort] = await server.logged(/Metrics on port (\d+)/);
  for (const host of ['127.0.0.1', ...(HAS_IPV6 ? ['[::1]'] : [])]) {
    const answers = await Promise.all(
      [`${host}:${server.port}/readyz`, `${host}:${metricsPort}/metrics`].map((place) =>
        fetch(`http://${place}`),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  }
});
