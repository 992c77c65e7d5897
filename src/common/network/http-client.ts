// For `import()`, which gives a linked CommonJS package without names (docs/adr/0009-linked-programs.md).
export { EnvHttpProxyAgent, fetch, install, setGlobalDispatcher } from 'undici';
