import eslint from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const GROUPS = [/^node:/, /^[^.]/, /^\./];

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

const ENVIRONMENT_MESSAGE = 'Only src/config reads the environment; inject a namespace of it.';
const FETCH_MESSAGE =
  'Requests to other servers go through providers/upstream-http: it has limits.';
const TYPEORM_MESSAGE = 'SQL lives in src/storage; add a method to a repository there.';
const LIMIT_MESSAGE = 'testTimeout in jest.config.mjs is the only limit: it ends what hangs.';
const OWN_LIMIT = [
  'CallExpression[callee.name=/^(it|test|before(All|Each)|after(All|Each))$/] > :function + *',
  'CallExpression[callee.callee.object.name=/^(it|test)$/] > :function + *',
  'CallExpression[callee.tag.object.name=/^(it|test)$/] > :function + *',
  'CallExpression[callee.object.name="jest"][callee.property.name="setTimeout"]',
];

const TESTS = ['**/*.{spec,db-spec,e2e-spec}.ts'];
const NODE_GLOBALS =
  'AbortController Buffer URL URLSearchParams clearTimeout console fetch performance process';

export default defineConfig(
  globalIgnores(['**/.*/', 'dist/', 'coverage/', 'data/', 'src/client/api/*-types.ts']),
  {
    files: ['**/*.{ts,tsx,mjs}'],
    extends: [eslint.configs.recommended],
    plugins: { gatehouse: { rules: { 'import-order': importOrder } } },
    rules: {
      curly: 'error',
      eqeqeq: 'error',
      'gatehouse/import-order': 'error',
      'max-lines': ['error', 400],
      'no-nested-ternary': 'error',
    },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        `${NODE_GLOBALS} setTimeout`.split(' ').map((name) => [name, false]),
      ),
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommended],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: TESTS,
    extends: [tseslint.configs.recommendedTypeChecked],
  },
  {
    // A promise's cases stand together, and are read one at a time.
    files: TESTS,
    rules: {
      'max-lines': ['error', 400],
      'no-restricted-syntax': [
        'error',
        ...OWN_LIMIT.map((selector) => ({ selector, message: LIMIT_MESSAGE })),
      ],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}', 'bench/**/*.mjs'],
    ignores: [...TESTS, 'src/storage/migrations/**'],
    rules: { 'max-lines-per-function': ['error', 40] },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: [...TESTS, 'src/config/**', 'src/cli/main.ts', 'src/notify/build.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: ENVIRONMENT_MESSAGE },
      ],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: [...TESTS, 'src/{client,notify,cli,web}/**', 'src/providers/http/upstream-http.ts'],
    rules: { 'no-restricted-globals': ['error', { name: 'fetch', message: FETCH_MESSAGE }] },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/storage/**'],
    rules: {
      'no-restricted-imports': ['error', { name: 'typeorm', message: TYPEORM_MESSAGE }],
    },
  },
);
