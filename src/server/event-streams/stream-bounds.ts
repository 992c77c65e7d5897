import type { StreamBounds } from '../storage/repositories/oauth/event-stream.repository.js';

const SECOND_MS = 1000;

/** Streams of one backend: one for each of its instances. */
export const STREAM_BOUNDS: StreamBounds = {
  maxStreams: 100,
  silentMs: 300 * SECOND_MS,
  replaceableMs: 60 * SECOND_MS,
};

/** The longest life of a token, and a minute. */
export const BACKLOG_MS = (15 + 1) * 60 * SECOND_MS;

/** A stream can ask for one verification in this time. */
export const VERIFICATION_INTERVAL_MS = SECOND_MS;
