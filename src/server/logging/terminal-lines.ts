import { parseJson } from '../../common/parse-json.js';

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
}

/** A terminal acts on some of these, and what a provider or a client sends can be part of a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** The message says these, or every line has them. */
const OMITTED = ['level', 'time', 'msg', 'service', 'context'];

/** Writes the lines of the log as people read them on a terminal: `12:30:05 warn The disk is full.` */
export function terminalLines(out: { write(text: string): void }): { write(line: string): void } {
  return { write: (line) => out.write(readable(line)) };
}

function readable(line: string): string {
  const fields = parseJson(line) as Line;
  const { level, time, msg } = fields;
  const others = Object.entries(fields).filter(([name]) => !OMITTED.includes(name));
  const more = others.map(([name, value]) => ` ${name}=${JSON.stringify(value)}`).join('');
  const text = `${level === 'info' ? '' : `${level} `}${msg}${more}`;
  return `${time.slice(11, 19)} ${text.replace(UNPRINTABLE, '\ufffd')}\n`;
}
