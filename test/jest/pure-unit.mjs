import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import net from 'node:net';

/** The functions under which every program starts and every connection opens. */
const REACHING_OUT = [
  [childProcess.ChildProcess.prototype, 'spawn'],
  ...['spawnSync', 'execFileSync', 'execSync'].map((name) => [childProcess, name]),
  ...['bind', 'connect', 'send'].map((name) => [dgram.Socket.prototype, name]),
  [net.Server.prototype, 'listen'],
  [net.Socket.prototype, 'connect'],
];

/** Refuses programs and the network to a unit test. @returns a function that permits them again */
export function forbidReachingOut() {
  const originals = REACHING_OUT.map(([owner, name]) => owner[name]);
  for (const [owner, name] of REACHING_OUT) {
    owner[name] = () => {
      throw new Error(
        `A unit test calls ${name}: name it *.integration-spec.ts, or *.full-spec.ts if it needs more than Node.`,
      );
    };
  }
  return () => {
    for (const [index, [owner, name]] of REACHING_OUT.entries()) {
      owner[name] = originals[index];
    }
  };
}
