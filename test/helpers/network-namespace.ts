import { execFileSync } from 'node:child_process';

/** A network of its own, linked with this machine's by one cable and nothing else. */
export interface NetworkNamespace {
  /** The address of this machine, as programs in the namespace reach it. */
  readonly hostAddress: string;
  /** The address of programs in the namespace, as this machine reaches them. */
  readonly address: string;
  /** Starts a program in the namespace, when put before it. */
  readonly enter: readonly string[];
  remove(): void;
}

/** Whether this user may make network namespaces (CAP_NET_ADMIN, CAP_SYS_ADMIN). */
export function mayMakeNamespaces(): boolean {
  const name = `gatehouse-may-${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'del', name);
    return true;
  } catch {
    process.stderr.write('NOT RUN: tests in a network namespace. They need root, and iproute2.\n');
    return false;
  }
}

export function makeNamespace(): NetworkNamespace {
  const name = `gatehouse-${process.pid}`;
  const [outside, inside] = [`gho${process.pid}`, `ghi${process.pid}`];
  // A private address: clients sign challenges without an origin for those alone. One /30 for each process.
  const base = (process.pid % 16_384) * 4;
  const address = (host: number): string => `10.254.${base >> 8}.${(base & 255) + host}`;
  const remove = (): void => ip('netns', 'del', name);
  ip('netns', 'add', name);
  try {
    ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', name);
    ip('address', 'add', `${address(1)}/30`, 'dev', outside);
    ip('link', 'set', outside, 'up');
    ip('-n', name, 'address', 'add', `${address(2)}/30`, 'dev', inside);
    ip('-n', name, 'link', 'set', inside, 'up');
  } catch (error) {
    remove();
    throw error;
  }
  return {
    hostAddress: address(1),
    address: address(2),
    enter: ['ip', 'netns', 'exec', name],
    remove,
  };
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}
