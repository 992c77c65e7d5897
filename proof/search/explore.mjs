import { Fingerprints } from './fingerprints.mjs';
import { StateCodec } from './state-codec.mjs';

/**
 * Visits every reachable state of a model, breadth first, and checks the invariants in each.
 *
 * @param model of {@link interpret}
 * @param {object} options
 * @param {string[]} [options.alike] names without a meaning of their own
 * @param {number} [options.mostSteps] length of the paths that are explored
 * @param {(depth: number, states: number) => void} [options.onLayer] called after all states of so many steps are known
 * @returns the counts, and the first violation with the shortest path to it
 */
export function explore(model, options = {}) {
  const found = search(model, options, null);
  if (found.violation === null) {
    return found;
  }
  // The path needs each state's predecessor, so only a search that fails keeps them.
  const predecessors = new Map();
  const { violation } = search(model, options, predecessors);
  return {
    ...found,
    violation: { ...violation, path: pathTo(violation.text, predecessors, found.codec) },
  };
}

function search(model, options, predecessors) {
  const { alike = [], mostSteps = Infinity, onLayer } = options;
  const invariants = model.invariants();
  const successors = model.successors();
  const seen = new Fingerprints();
  let codec = null;
  let layer = [];
  let transitions = 0;
  let violation = null;
  const visit = (state, from) => {
    codec ??= new StateCodec(model.variables, state, alike);
    const text = codec.write(state);
    if (!seen.add(text)) {
      return;
    }
    layer.push(text);
    predecessors?.set(text, from);
    const broken = invariants.find(([, holds]) => !holds(state));
    if (broken !== undefined) {
      violation ??= { invariant: broken[0], text };
    }
  };
  model.initial()((state) => visit([...state], null));
  let depth = 0;
  while (layer.length > 0 && violation === null && depth < mostSteps) {
    const current = layer;
    layer = [];
    depth += 1;
    for (const text of current) {
      const next = [];
      const state = codec.read(text);
      successors(state, (successor) => next.push([...successor]));
      transitions += next.length;
      next.forEach((successor) => visit(successor, text));
    }
    onLayer?.(depth, seen.size);
  }
  const isComplete = layer.length === 0 && violation === null;
  return { states: seen.size, transitions, depth, isComplete, violation, codec };
}

function pathTo(text, predecessors, codec) {
  const path = [];
  for (let at = text; at !== null; at = predecessors.get(at) ?? null) {
    path.unshift(codec.read(at));
  }
  return path;
}
