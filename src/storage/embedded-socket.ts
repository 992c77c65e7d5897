import { createServer, type Server, type Socket } from 'node:net';
import { FrameReader } from './embedded-frames.js';
import { type BackendQueue, Session } from './embedded-sessions.js';

const TERMINATE = 0x58;

/** Serves the PostgreSQL protocol on the Unix socket `path`, one session per connection. */
export async function listenForSessions(path: string, queue: BackendQueue): Promise<SessionServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    attach(socket, queue);
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(path, done);
  });
  return { close: () => close(server, sockets) };
}

export interface SessionServer {
  /** Cuts every connection and rolls back what was open. */
  close(): Promise<void>;
}

async function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  for (const socket of sockets) {
    socket.destroy();
  }
  await closed;
}

function attach(socket: Socket, queue: BackendQueue): void {
  const reader = new FrameReader();
  const session = new Session(
    queue,
    (bytes) => socket.write(bytes),
    () => socket.destroy(),
  );
  let hasBegun = false;
  socket.on('error', () => socket.destroy());
  socket.on('close', () => session.end());
  socket.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    try {
      hasBegun ||= open(socket, session, reader);
      if (hasBegun) {
        receiveAll(socket, session, reader);
      }
    } catch {
      // Not the PostgreSQL protocol: there is no message to answer, only a connection to end.
      socket.destroy();
    }
  });
}

/** @returns whether the connection got as far as its startup message */
function open(socket: Socket, session: Session, reader: FrameReader): boolean {
  for (let opening = reader.takeOpening(); opening; opening = reader.takeOpening()) {
    switch (opening.kind) {
      case 'encryption':
        socket.write('N');
        break;
      case 'cancel':
        // A statement blocks the thread until it ends, so there is never one to cancel.
        socket.end();
        return false;
      case 'startup':
        session.begin(opening.bytes);
        return true;
    }
  }
  return false;
}

function receiveAll(socket: Socket, session: Session, reader: FrameReader): void {
  for (let frame = reader.takeFrame(); frame; frame = reader.takeFrame()) {
    if (frame[0] === TERMINATE) {
      socket.end();
      return;
    }
    session.receive(frame);
  }
}
