// The checkout is no package: npm would install the linked dependencies twice.
process.stderr.write(
  'The packages are made by "npm run packages", which writes them to dist/npm.\n',
);
process.exitCode = 1;
