import * as completions from './completions.mjs';
import { constructorParameters } from './constructor-parameters.mjs';
import { injectableRole } from './injectable-role.mjs';
import { injectedTime } from './injected-time.mjs';
import { usedResult } from './used-result.mjs';
import { plainComments, testTitle } from './words.mjs';

const GROUPS = [/^node:/, /^[^.]/, /^\./];
const LIMIT_MESSAGE = 'testTimeout in jest.config.mjs is the only limit: it ends what hangs.';
const OWN_LIMITS = [
  'CallExpression[callee.name=/^(it|test|before(All|Each)|after(All|Each))$/] > :function + *',
  'CallExpression[callee.callee.object.name=/^(it|test)$/] > :function + *',
  'CallExpression[callee.tag.object.name=/^(it|test)$/] > :function + *',
  'CallExpression[callee.object.name="jest"][callee.property.name="setTimeout"]',
];

/** Imports come from Node first, then from packages, then from this repository. */
const importOrder = {
  meta: { type: 'layout', messages: { late: 'Import "{{name}}" before the group above it.' } },
  create(context) {
    let reached = 0;
    return {
      ImportDeclaration(node) {
        const name = node.source.value;
        const group = GROUPS.findIndex((pattern) => pattern.test(name));
        if (group < reached) {
          context.report({ node, messageId: 'late', data: { name } });
        }
        reached = Math.max(reached, group);
      },
    };
  },
};

/** A test or a hook has no time limit of its own. */
const noOwnLimit = {
  meta: { type: 'problem', messages: { limit: LIMIT_MESSAGE } },
  create(context) {
    const report = (node) => context.report({ node, messageId: 'limit' });
    return Object.fromEntries(OWN_LIMITS.map((selector) => [selector, report]));
  },
};

/** Code runs in some case; of what the linter's own rule does not see, the bodies of `catch`. */
const noUnreachable = {
  meta: { type: 'problem', messages: { unreachable: 'This code is never reached.' } },
  create(context) {
    const outer = [];
    let segments = new Set();
    const begin = (segment) => segments.add(segment);
    const end = (segment) => segments.delete(segment);
    return {
      onCodePathStart() {
        outer.push(segments);
        segments = new Set();
      },
      onCodePathEnd() {
        segments = outer.pop();
      },
      onCodePathSegmentStart: begin,
      onCodePathSegmentEnd: end,
      onUnreachableCodePathSegmentStart: begin,
      onUnreachableCodePathSegmentEnd: end,
      'CatchClause > BlockStatement'(node) {
        if (![...segments].some(({ reachable }) => reachable)) {
          context.report({ node, messageId: 'unreachable' });
        }
      },
    };
  },
};

const MAX_LINES = 40;

/** The whole method counts, including its decorators. */
function wholeOf(node) {
  const { parent } = node;
  const isMethod =
    parent.type === 'MethodDefinition' ||
    (parent.type === 'Property' && (parent.method || parent.kind !== 'init'));
  return isMethod && parent.value === node ? parent : node;
}

function linesOf(node) {
  const starts = [node, ...(node.decorators ?? [])].map(({ loc }) => loc.start.line);
  return node.loc.end.line - Math.min(...starts) + 1;
}

const functionLength = {
  meta: {
    type: 'suggestion',
    messages: { long: `The function has {{lines}} lines. At most ${MAX_LINES} are allowed.` },
  },
  create(context) {
    const check = (node) => {
      const isCalledAtOnce = node.parent.type === 'CallExpression' && node.parent.callee === node;
      const lines = linesOf(wholeOf(node));
      if (lines > MAX_LINES && (node.type === 'FunctionDeclaration' || !isCalledAtOnce)) {
        context.report({ node, messageId: 'long', data: { lines } });
      }
    };
    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
    };
  },
};

/** The rules of this repository, for the linter (.oxlintrc.json). */
export default {
  meta: { name: 'gatehouse' },
  rules: {
    'constructor-parameters': constructorParameters,
    'function-length': functionLength,
    'import-order': importOrder,
    'injectable-role': injectableRole,
    'injected-time': injectedTime,
    'no-duplicate-types': completions.noDuplicateTypes,
    'no-member-superclass': completions.noMemberSuperclass,
    'no-own-limit': noOwnLimit,
    'no-self-assign': completions.noSelfAssign,
    'no-type-only-value': completions.noTypeOnlyValue,
    'no-unreachable': noUnreachable,
    'no-unused-default': completions.noUnusedDefault,
    'plain-comments': plainComments,
    'test-title': testTitle,
    'used-result': usedResult,
  },
};
