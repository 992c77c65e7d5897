import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const IMAGE = /^ARG NODE_VERSION=(.+)$/m.exec(
  readFileSync(join(ROOT, 'docker/Dockerfile'), 'utf8'),
)?.[1];
const OWN = '20.20.0';
/** The programs that a run would install. */
const INSTALLED = [
  ...[
    'initdb',
    'redis-server',
    'pgbouncer',
    'openssl',
    'nginx',
    'haproxy',
    'apache2',
    'caddy',
    'promtool',
  ],
  ...['chromium', 'chromium-headless-shell', 'dbus-daemon', 'zsh', 'fish', 'dpkg'],
];

describe('.ci/run', () => {
  let checkout: string;
  let bin: string;

  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), 'gatehouse-ci-'));
    bin = join(checkout, 'bin');
    for (const path of ['.ci/run', 'docker/Dockerfile', 'test/helpers/node-release.mjs']) {
      mkdirSync(dirname(join(checkout, path)), { recursive: true });
      cpSync(join(ROOT, path), join(checkout, path));
    }
    mkdirSync(bin);
    INSTALLED.forEach((name) => program(join(bin, name), 'exit 0'));
    program(join(bin, 'node'), nodeOf(OWN));
    program(join(checkout, '.ci/bare'), `echo bare >> ${join(checkout, 'calls')}`);
  });

  function program(path: string, script: string): void {
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  const nodeOf = (version: string) =>
    `case "$1" in -p) echo ${version};; *) exec ${process.execPath} "$@";; esac`;

  /** Runs it with a suite that fails one test on the versions given. */
  function run(args: readonly string[], failingOn: readonly string[] = []) {
    const release = `node-linux-${process.arch}`;
    program(join(checkout, 'fetched-node'), nodeOf('"$(cat "$(dirname "$0")/version")"'));
    program(
      join(bin, 'npm'),
      `case "$1" in
        install)
          bin="$3/node_modules/${release}/bin"; mkdir -p "$bin"
          for last; do :; done
          echo "\${last#${release}@}" > "$bin/version"
          cp ${join(checkout, 'fetched-node')} "$bin/node";;
        run)
          version=$(node -p process.versions.node)
          echo "$version $2" >> ${join(checkout, 'calls')}
          [ "$2" = test:full ] || exit 0
          case "$version" in
            ${failingOn.join('|') || 'none'}) echo 'Tests:       1 failed, 2 passed, 3 total'; exit 1;;
            *) echo 'Tests:       3 passed, 3 total';;
          esac;;
      esac`,
    );
    const { status, stdout } = spawnSync(join(checkout, '.ci/run'), args, {
      env: { PATH: [bin, '/usr/bin', '/bin'].join(delimiter) },
      encoding: 'utf8',
    });
    const calls = readFileSync(join(checkout, 'calls'), 'utf8').trim().split('\n');
    return {
      status,
      calls: calls.map((call) => call.trim()),
      last: stdout.trimEnd().split('\n').at(-1),
    };
  }

  it('runs the core with Node alone, then the full tier on the Node of the Dockerfile', () => {
    expect(run([])).toEqual({
      status: 0,
      calls: ['bare', `${OWN} install:full`, `${IMAGE} test:full`],
      last: '3 passed, 0 failed',
    });
  });

  it('fails where the full tier fails', () => {
    expect(run([], [IMAGE ?? ''])).toMatchObject({ status: 1, last: '2 passed, 1 failed' });
  });

  it('fails where the core fails, and runs the full tier all the same', () => {
    program(join(checkout, '.ci/bare'), 'exit 1');
    expect(run([])).toMatchObject({
      status: 1,
      calls: [`${OWN} install:full`, `${IMAGE} test:full`],
    });
  });

  it('installs the modules of Python that are missing', () => {
    const installed = join(checkout, 'installed');
    program(join(bin, 'dpkg'), 'exit 1');
    program(join(bin, 'apt-get'), `echo "$@" >> ${installed}`);
    expect(run(['own'])).toMatchObject({ status: 0 });
    expect(readFileSync(installed, 'utf8').split('\n')).toEqual([
      'update -q',
      'install -qy --no-install-recommends python3-nacl python3-socketio python3-websocket python3-authlib python3-cryptography python3-httpx python3-jwt',
      '',
    ]);
  });

  it('runs the full tier alone on its own Node where it is asked to', () => {
    expect(run(['own'])).toEqual({
      status: 0,
      calls: [`${OWN} install:full`, `${OWN} test:full`],
      last: '3 passed, 0 failed',
    });
  });
});
