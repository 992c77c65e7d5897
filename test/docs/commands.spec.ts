import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { buildProgram } from '../../src/apps/cli/program.js';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = [
  ...['README.md', 'SECURITY.md', 'helm/gatehouse/README.md'],
  ...['docs', 'tools/packages'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md') && !path.startsWith('adr'))
      .map((path) => `${folder}/${path}`),
  ),
];
const PROGRAM = buildProgram({
  environment: {},
  streams: { out: process.stdout, error: process.stderr },
  exitCode: 0,
});
const EVERYWHERE = ['--help'];

const BLOCK = /^ *```(?:sh|console)?\n(.*?)^ *```/gms;
const IN_BLOCK = /(?:^|[$(|;] *|=\S+ |-- |npx |inside )gatehouse ([^\n]*)/gm;
const IN_PROSE = /`(?:npx )?gatehouse ([^`]+)`/g;
/** The words of a command end where the shell does something else. */
const OF_COMMAND = /^(?:[^|;&)<>#"'…]|"[^"]*"|'[^']*')*/;
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/g;

/** Returns what follows `gatehouse` in the commands of a page. */
function commandsIn(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll('\\\n', ' ');
  const blocks = [...text.matchAll(BLOCK)].flatMap(([, block = '']) => [
    ...block.matchAll(IN_BLOCK),
  ]);
  const prose = text.replaceAll(/^ *```.*?^ *```/gms, '').replaceAll(/\s+/g, ' ');
  // Labels of the protocol, such as `gatehouse device v2`, begin with other words.
  const inProse = [...prose.matchAll(IN_PROSE)].filter(([, words = '']) =>
    PROGRAM.commands.some((one) => words.startsWith(`${one.name()} `)),
  );
  return [...blocks, ...inProse].map(([, words = '']) => words.trim());
}

/** Returns what is wrong with a command; null where it can be typed. */
function faultOf(text: string): string | null {
  const words = (OF_COMMAND.exec(text)?.[0] ?? '').match(WORD) ?? [];
  let command: Command = PROGRAM;
  let at = 0;
  for (; command.commands.length > 0 && /^[a-z]/.test(words[at] ?? ''); at += 1) {
    const next = command.commands.find((one) => one.name() === words[at]);
    if (next === undefined) {
      return `has no command ${words[at]}`;
    }
    command = next;
  }
  const rest = words.slice(at).map((word) => word.replaceAll(/[[\]]/g, ''));
  const given = rest.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0]);
  const known = [command, ...command.commands].flatMap(({ options }) => options.map(nameOf));
  const unknown = given.find((name) => ![...known, ...EVERYWHERE].includes(name));
  if (unknown !== undefined) {
    return `has no option ${unknown}`;
  }
  const missing = command.options.find((one) => one.mandatory && !given.includes(nameOf(one)));
  // A command alone is its name, and one with an ellipsis goes on.
  const isWhole = rest.length > 0 && !text.includes('…') && !given.includes('--help');
  return isWhole && missing !== undefined ? `needs ${nameOf(missing)}` : null;
}

function nameOf({ long, short }: Option): string | undefined {
  return long ?? short;
}

describe('the commands of the pages', () => {
  it('finds the commands', () => {
    expect(PAGES.flatMap(commandsIn).length).toBeGreaterThan(150);
  });

  it.each(PAGES)('accepts every command of %s', (page) => {
    const faults = commandsIn(page).map((text) => [text, faultOf(text)] as const);
    expect(faults.filter(([, fault]) => fault !== null)).toEqual([]);
  });

  it.each([
    ['account disable ID', 'needs --reason'],
    ['account disable ID --reason left', null],
    ['account disable', null],
    ['account stop ID', 'has no command stop'],
    ['notify ready --sesion s1', 'has no option --sesion'],
  ])('finds the mistake in %j', (text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });
});
