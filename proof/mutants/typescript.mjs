import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

// Hooks of `module.register`: imports of `.js` find the source `.ts`, which is compiled as the build does.

const { jsc } = JSON.parse(readFileSync('.swcrc', 'utf8'));

export function resolve(specifier, context, next) {
  if (specifier.startsWith('.') && specifier.endsWith('.js')) {
    const source = new URL(specifier.replace(/js$/, 'ts'), context.parentURL);
    if (existsSync(source)) {
      return { url: source.href, format: 'module', shortCircuit: true };
    }
  }
  return next(specifier, context);
}

export function load(url, context, next) {
  if (!url.endsWith('.ts')) {
    return next(url, context);
  }
  const filename = fileURLToPath(url);
  const options = { filename, jsc, swcrc: false, configFile: false, module: { type: 'es6' } };
  const { code } = transformSync(readFileSync(filename, 'utf8'), options);
  return { source: code, format: 'module', shortCircuit: true };
}
