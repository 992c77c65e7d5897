import { connectionTo } from './database-connection.js';

const ADDRESS = 'postgres://gate:secret@127.0.0.1:1/gate';

/** Returns the TLS options of a connection, and the warnings of its driver. */
function open(query: string): { readonly ssl: unknown; readonly warned: number } {
  const { emitWarning } = process;
  let warned = 0;
  process.emitWarning = () => {
    warned += 1;
  };
  try {
    const { ssl } = new (connectionTo({ url: `${ADDRESS}${query}` }))() as { ssl?: unknown };
    return { ssl, warned };
  } finally {
    process.emitWarning = emitWarning;
  }
}

describe(connectionTo, () => {
  it.each(['require', 'prefer', 'verify-ca'])(
    'verifies certificates with sslmode=%s as with verify-full, without a warning in the log',
    (mode) => {
      const strict = open('?sslmode=verify-full');
      expect(strict).toEqual({ ssl: {}, warned: 0 });
      expect(open(`?sslmode=${mode}`)).toEqual(strict);
      expect(open(`?application_name=a&sslmode=${mode}`)).toEqual(strict);
    },
  );

  it('leaves other modes as they are', () => {
    expect(open('?sslmode=disable').ssl).toBe(false);
    expect(open('?sslmode=no-verify').ssl).toEqual({ rejectUnauthorized: false });
    expect(open('?uselibpqcompat=true&sslmode=require').ssl).toEqual({ rejectUnauthorized: false });
  });
});
