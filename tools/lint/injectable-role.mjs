import { basename } from 'node:path';

/** Roles of injectable classes, each with the suffix of its file. */
const ROLES = {
  Adapter: '.adapter.ts',
  Events: '.events.ts',
  Filter: '.filter.ts',
  Gateway: '.gateway.ts',
  Guard: '.guard.ts',
  Hook: '.hook.ts',
  Job: '.job.ts',
  Pipe: '.pipe.ts',
  Registry: '.registry.ts',
  Repository: '.repository.ts',
  Service: '.service.ts',
};
/** Sources of time and chance, which have the name of the value that they replace. */
const WITHOUT_ROLE = ['Clock', 'Random', 'Runtime', 'Timers'];

const isInjectable = ({ expression }) => expression.callee?.name === 'Injectable';

/** The name of an injectable class ends with its role, and so does the name of its file. */
export const injectableRole = {
  meta: {
    type: 'suggestion',
    messages: {
      name: `"{{name}}" must end with its role: ${Object.keys(ROLES).join(', ')}.`,
      file: '"{{name}}" must be in a file whose name ends with "{{suffix}}".',
    },
  },
  create(context) {
    return {
      ClassDeclaration(node) {
        const name = node.id?.name ?? '';
        if (!node.decorators.some(isInjectable) || WITHOUT_ROLE.includes(name)) {
          return;
        }
        const suffix = ROLES[Object.keys(ROLES).find((role) => name.endsWith(role))];
        if (suffix === undefined) {
          context.report({ node, messageId: 'name', data: { name } });
        } else if (!basename(context.filename).endsWith(suffix)) {
          context.report({ node, messageId: 'file', data: { name, suffix } });
        }
      },
    };
  },
};
