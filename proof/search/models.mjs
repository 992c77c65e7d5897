import { fileURLToPath } from 'node:url';
import { explore } from './explore.mjs';
import { interpret } from './interpreter.mjs';
import { compileModel } from './quint.mjs';

const fileOf = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** The sizes of the model; see `instances.qnt`. */
export const INSTANCES = fileOf('instances.qnt');
/** The schedules that are replayed. */
export const SCHEDULES = fileOf('replay.qnt');

const REPLICAS = { one: ['a'], two: ['a', 'b'] };

/** The explored instances. The names in `alike` may be exchanged without another meaning. */
export const SEARCHES = {
  slice: { file: INSTANCES, alike: REPLICAS.one },
  single: { file: INSTANCES, alike: REPLICAS.two },
  checks: { file: INSTANCES, alike: [] },
  vouched: { file: INSTANCES, alike: REPLICAS.two },
  // It has too many states to know all of them.
  pair: { file: INSTANCES, alike: REPLICAS.two, mostSteps: 13 },
  guard: { file: fileOf('guard.qnt'), alike: [] },
  grant: { file: fileOf('grant.qnt'), alike: [] },
};

/**
 * Explores every state of an instance, or every one within its `mostSteps`.
 *
 * @param {keyof typeof SEARCHES} name
 * @param {(depth: number, states: number) => void} [onLayer] called after all states of so many steps are known
 */
export function exploreInstance(name, onLayer) {
  const { file, ...options } = SEARCHES[name];
  const model = interpret(compileModel(file, name));
  return { model, ...explore(model, { ...options, onLayer }) };
}
