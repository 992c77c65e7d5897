import { Random } from '../../../common/runtime/random.js';
import { Timers } from '../../../common/runtime/timers.js';
import { resolveSettings } from '../../../server/config/resolve-settings.js';
import {
  transmitterFailure,
  withConnector,
  type OpenedConnector,
} from '../../../server/providers/signals/open-connector.js';
import {
  SignalStreamRepository,
  type SignalStream,
} from '../../../server/storage/repositories/signals/signal-stream.repository.js';
import { CliError, EXIT, refusedError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import { variablesToCheck } from '../server/config-report.js';
import { withDatabase } from '../operator/database.js';

interface Options {
  readonly file?: string;
  readonly stream?: string;
  readonly show?: boolean;
  readonly verify?: boolean;
  readonly remove?: boolean;
}

interface Work extends OpenedConnector {
  readonly provider: string;
  readonly streams: SignalStreamRepository;
  readonly context: CliContext<Options>;
}

const LOOK_EVERY_MS = 500;
const VERIFIED_WITHIN_MS = 30_000;

/** Makes, shows, verifies or removes the stream of a provider. */
export async function run(context: CliContext<Options>): Promise<number> {
  const [provider = ''] = context.args;
  const environment = variablesToCheck(context);
  const { settings } = resolveSettings(environment);
  try {
    const exitCode = await withDatabase({ ...context, environment }, ({ database }) =>
      withConnector(settings, provider, (opened) =>
        act({ ...opened, provider, context, streams: new SignalStreamRepository(database) }),
      ),
    );
    if (exitCode === null) {
      throw refusedError(
        `The entry ${provider} has no signals.sharedSignals with managementTokenFile or managementClient.`,
        'not-configured',
      );
    }
    return exitCode;
  } catch (error) {
    const failure = transmitterFailure(error);
    if (failure === null) {
      throw error;
    }
    const { code, message } = failure;
    const exitCode = code === 'transmitter-unavailable' ? EXIT.unreachable : EXIT.refused;
    throw new CliError(message, { exitCode, code });
  }
}

async function act(work: Work): Promise<number> {
  const { show, verify: verifies, remove: removes } = work.context.options;
  if (show === true) {
    return display(work, await stored(work));
  }
  if (removes === true) {
    return remove(work, await stored(work));
  }
  return verify(work, verifies === true ? await stored(work) : await connect(work));
}

async function connect({ connector, settings, provider, streams, context, client }: Work) {
  const { transmitter } = settings;
  const known = await streams.find({ provider, transmitter });
  const made = await connector.connect(context.options.stream ?? known?.streamId ?? null);
  const verificationState = new Random().secret();
  const saved = await streams.save({ provider, transmitter, ...made, verificationState });
  // A transmitter may offer no status, and then has no other than this one.
  const status = await client.status(saved.streamId).catch(() => ({ status: 'enabled' }));
  if (status.status !== 'enabled') {
    await client.enable(saved.streamId);
  }
  if (made.events.length === 0) {
    context.output.note('The transmitter lists no event of this stream that it delivers.');
  }
  return saved;
}

async function verify({ client, streams, context }: Work, stream: SignalStream): Promise<number> {
  const { provider, streamId } = stream;
  const before = (await streams.find(stream))?.verifiedAt?.getTime() ?? 0;
  await client.verify(streamId, stream.verificationState);
  context.output.note('Asked for a verification event. A running server receives it.');
  const timers = new Timers();
  for (let waitedMs = 0; waitedMs < VERIFIED_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
    const now = await streams.find(stream);
    if ((now?.verifiedAt?.getTime() ?? 0) > before) {
      context.output.result(shown(now ?? stream), `${provider}: the stream ${streamId} works.`);
      return EXIT.ok;
    }
    await timers.sleep(LOOK_EVERY_MS);
  }
  throw refusedError(
    `The stream ${streamId} is set up, but its verification event has not arrived.`,
    'not-verified',
    'Does a server run with this configuration, and does the transmitter reach it? Try again: --verify',
  );
}

async function display({ client, context }: Work, stream: SignalStream): Promise<number> {
  const there = await client.read(stream.streamId);
  const { status, reason = null } = await client
    .status(stream.streamId)
    .catch(() => ({ status: stream.status, reason: stream.reason ?? undefined }));
  const seen = { ...shown(stream), status, reason, events: there.events_delivered };
  const lines = [
    `stream       ${seen.streamId}`,
    `status       ${status}${reason === null ? '' : ` (${reason})`}`,
    `delivery     ${stream.pollUrl === null ? 'push' : `poll ${stream.pollUrl}`}`,
    `audience     ${stream.audiences.join(', ')}`,
    `verified     ${seen.verifiedAt ?? 'never'}`,
    `last sign    ${seen.seenAt}`,
    ...seen.events.map((event) => `event        ${event}`),
  ];
  context.output.result(seen, lines.join('\n'));
  return EXIT.ok;
}

/** It is removed here first, or a running server would make another one. */
async function remove(
  { client, streams, provider, context }: Work,
  stream: SignalStream,
): Promise<number> {
  const { streamId } = stream;
  await streams.remove(provider);
  try {
    await client.remove(streamId);
  } catch (error) {
    if (transmitterFailure(error)?.code !== 'stream-missing') {
      await streams.save(stream);
      throw error;
    }
  }
  context.output.result({ provider, streamId, removed: true }, `Removed the stream ${streamId}.`);
  return EXIT.ok;
}

async function stored({ streams, settings, provider }: Work): Promise<SignalStream> {
  const stream = await streams.find({ provider, transmitter: settings.transmitter });
  if (stream === null) {
    throw refusedError(
      `No stream of ${provider} is known here.`,
      'not-found',
      `Run: gatehouse signals connect ${provider}`,
    );
  }
  return stream;
}

/** The stream without the state that its verification events have to repeat. */
function shown(stream: SignalStream) {
  const { provider, transmitter, streamId, audiences, pollUrl, status, reason, failure } = stream;
  return {
    provider,
    transmitter,
    streamId,
    audiences,
    pollUrl,
    status,
    reason,
    failure,
    connectedAt: stream.connectedAt.toISOString(),
    seenAt: stream.seenAt.toISOString(),
    verifiedAt: stream.verifiedAt?.toISOString() ?? null,
  };
}
