import * as completions from './completions.mjs';
import { functionLength } from './function-length.mjs';
import { noUnreachable } from './unreachable.mjs';

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

/** The rules of this repository, for the linter (.oxlintrc.json). */
export default {
  meta: { name: 'gatehouse' },
  rules: {
    'function-length': functionLength,
    'import-order': importOrder,
    'no-duplicate-types': completions.noDuplicateTypes,
    'no-member-superclass': completions.noMemberSuperclass,
    'no-own-limit': noOwnLimit,
    'no-self-assign': completions.noSelfAssign,
    'no-type-only-value': completions.noTypeOnlyValue,
    'no-unreachable': noUnreachable,
    'no-unused-default': completions.noUnusedDefault,
  },
};
