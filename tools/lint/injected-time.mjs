/** Files that use the globals themselves, with the reason. */
const OUTSIDE = {
  'src/common/runtime/clock.ts': 'implements Clock',
  'src/common/runtime/timers.ts': 'implements Timers',
  'src/common/runtime/random.ts': 'implements Random',
  'src/server/http/error.filter.ts':
    'names requests, before Nest exists; no decision depends on the name',
  'src/server/network/ended-connections.ts': 'closes sockets, as time-outs of Node.js do',
  'src/common/private-files.ts': 'temporary names differ between processes of one seed',
  'src/server/main.ts': 'ends a process that does not stop',
  'src/server/storage/embedded/data-directory.ts':
    'processes compete for the directory in real time',
  'src/server/storage/embedded/embedded-database.ts': 'waits for a thread, which runs in real time',
  'src/server/storage/embedded/embedded-sessions.ts': 'runs in the thread of the database',
};

const GLOBALS = ['performance', 'setImmediate', 'setInterval', 'setTimeout'];
const MEMBERS = {
  AbortSignal: ['timeout'],
  Date: ['now'],
  Math: ['random'],
  crypto: ['getRandomValues', 'randomBytes', 'randomInt', 'randomUUID'],
  globalThis: GLOBALS,
  process: ['hrtime', 'uptime'],
};
const MODULES = {
  'node:crypto': /^random/,
  'node:perf_hooks': /./,
  'node:timers': /./,
  'node:timers/promises': /./,
};

/** True where the identifier names a property, a key or an import instead of a variable. */
function isName(node, parent) {
  const isProperty = parent.type === 'MemberExpression' && parent.property === node;
  const isKey = parent.key === node && parent.value !== node;
  return (isProperty || isKey) && !parent.computed;
}

/** Time and chance are injected: a test, or a simulation, decides them. */
export const injectedTime = {
  meta: {
    type: 'problem',
    messages: {
      global: 'Inject Clock, Timers or Random (src/common/runtime) in place of "{{name}}".',
      unused: 'The file uses no clock, timer or chance: remove it from the list of this rule.',
    },
  },
  create(context) {
    const reason = Object.keys(OUTSIDE).find((path) => context.filename.endsWith(`/${path}`));
    let count = 0;
    const report = (node, name) => {
      count += 1;
      if (reason === undefined) {
        context.report({ node, messageId: 'global', data: { name } });
      }
    };
    return {
      Identifier(node) {
        const isImported = node.parent.type.startsWith('Import');
        if (GLOBALS.includes(node.name) && !isImported && !isName(node, node.parent)) {
          report(node, node.name);
        }
      },
      ImportDeclaration({ source, specifiers, importKind }) {
        const names = MODULES[source.value];
        for (const specifier of importKind === 'type' ? [] : specifiers) {
          const name = specifier.imported?.name ?? source.value;
          if (names?.test(name)) {
            report(specifier, name);
          }
        }
      },
      MemberExpression(node) {
        const { object, property } = node;
        if (MEMBERS[object.name]?.includes(property.name) && !node.computed) {
          report(node, `${object.name}.${property.name}`);
        }
      },
      ':matches(CallExpression, NewExpression)[callee.name="Date"][arguments.length=0]'(node) {
        report(node, 'new Date()');
      },
      'Program:exit'(node) {
        if (reason !== undefined && count === 0) {
          context.report({ node, messageId: 'unused' });
        }
      },
    };
  },
};
