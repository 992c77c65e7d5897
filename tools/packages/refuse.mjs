// The checkout is no package: what it links in would be installed once more, beside the programs.
process.stderr.write(
  'The packages are made by "npm run packages", which writes them to dist/packages.\n',
);
process.exitCode = 1;
