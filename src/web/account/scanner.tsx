import { useEffect, useRef, useState } from 'preact/hooks';
import { readDeviceLink } from '../../client/crypto/device-link.js';
import { serverUrl } from '../server.js';
import { Icon } from '../ui/icon.js';
import { NoticeLine, problem, type Notice } from '../ui/notice.js';
import { words } from '../words/words.js';
import { startReader } from './qr-reader.js';
import type { PendingDevice } from './tab-state.js';

interface ScannerProps {
  readonly found: (device: PendingDevice) => void;
}

/** Reads the QR code of the new device with the camera of this one, where it has a camera. */
export function Scanner({ found }: ScannerProps) {
  const [isOpen, open] = useState(false);
  const [notice, show] = useState<Notice | null>(null);
  const stop = (last: Notice | null) => {
    open(false);
    show(last);
  };
  // Undefined outside secure contexts.
  if ((navigator.mediaDevices as MediaDevices | undefined) === undefined) {
    return null;
  }
  return (
    <>
      {isOpen ? (
        <Camera found={found} stop={stop} />
      ) : (
        <button type="button" onClick={() => open(true)}>
          <Icon name="camera" />
          {words.add.scan}
        </button>
      )}
      <NoticeLine notice={notice} />
      <p class="divider">{words.signIn.or}</p>
    </>
  );
}

interface CameraProps extends ScannerProps {
  readonly stop: (last: Notice | null) => void;
}

function Camera({ found, stop }: CameraProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [notice, show] = useState<Notice | null>(null);
  const read = (text: string) => {
    const link = readDeviceLink(text);
    if (link === null || link.serverUrl !== serverUrl()) {
      show(problem(words.add.notOurs));
      return;
    }
    found({ userCode: link.userCode, publicKey: link.publicKey });
  };
  useEffect(() => {
    const end = new AbortController();
    if (video.current !== null) {
      startReader(video.current, read, end.signal).catch(() => {
        if (!end.signal.aborted) {
          stop(problem(words.add.noCamera));
        }
      });
    }
    return () => end.abort();
  }, []);
  return (
    <>
      <p>{words.add.scanning}</p>
      <video ref={video} class="camera" playsInline muted />
      <NoticeLine notice={notice} />
      <button type="button" onClick={() => stop(null)}>
        {words.add.stop}
      </button>
    </>
  );
}
