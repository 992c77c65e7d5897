import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// `npm run prove:mutants [-- folders]`: mutates the sources of a folder, and runs its unit specs against each mutant.

const HERE = fileURLToPath(new URL('.', import.meta.url));
const STRYKER = `${HERE}node_modules/@stryker-mutator/core/bin/stryker.js`;
/** The least share of mutants that specs kill, in percent; null where it is only reported. */
const FOLDERS = {
  'src/packages/webhooks': 90,
  'src/core/policy/eligibility': 90,
  'src/core/policy/certificate': 90,
  'src/core/policy/admission': 90,
  'src/packages/client/crypto': 90,
  'src/packages/guard': 90,
  'src/server/auth': null,
};
const KILLED = ['Killed', 'Timeout'];
const LEFT = ['Survived', 'NoCoverage'];

/** Survivors by `file: line: changed part of it -> replacement`, each with its reason. */
const reasons = JSON.parse(readFileSync(`${HERE}survivors.json`, 'utf8'));
const wanted = process.argv.slice(2);
for (const folder of wanted.length === 0 ? Object.keys(FOLDERS) : wanted) {
  run(folder);
}

function run(folder) {
  const { status } = spawnSync(process.execPath, [STRYKER, 'run', `${HERE}stryker.config.mjs`], {
    stdio: 'inherit',
    env: { ...process.env, GATEHOUSE_MUTANTS: folder },
  });
  if (status !== 0) {
    throw new Error(`The mutants of ${folder} did not run.`);
  }
  const mutants = mutantsOf(`.cache/mutants-${folder.replaceAll('/', '-')}.json`);
  const left = mutants.filter((one) => LEFT.includes(one.status));
  const killed = mutants.filter((one) => KILLED.includes(one.status)).length;
  const share = (100 * killed) / (killed + left.length);
  const least = FOLDERS[folder] ?? null;
  console.log(`${folder}: ${killed} of ${killed + left.length} mutants killed`);
  const unexplained = left.filter(({ key }) => reasons[key] === undefined);
  unexplained.forEach(({ key }) => console.log(`  ${key}`));
  Object.keys(reasons)
    .filter((key) => key.startsWith(`${folder}/`) && left.every((one) => one.key !== key))
    .forEach((key) => console.log(`  killed by now, and needs no reason: ${key}`));
  if (least !== null && (share < least || unexplained.length > 0)) {
    console.error(
      `${folder}: ${share.toFixed(1)} %, ${unexplained.length} survivors without a reason`,
    );
    process.exitCode = 1;
  }
}

function mutantsOf(report) {
  const { files } = JSON.parse(readFileSync(report, 'utf8'));
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n');
    return mutants.map(({ status, location: { start, end }, replacement }) => {
      const line = lines[start.line - 1];
      const last = start.line === end.line ? end.column - 1 : line.length;
      const changed = line.slice(start.column - 1, last);
      const text = `${file}: ${line.trim()}: ${changed} -> ${replacement}`;
      return { status, key: text.replaceAll(/\s+/g, ' ') };
    });
  });
}
