import { useEffect, useRef, useState } from 'preact/hooks';
import type { BarcodeDetector as QrDetector } from 'qr/decode.js';
import { Button } from '../ui/button.js';
import { NoticeLine, problem, type Notice } from '../ui/notice.js';
import { t } from '../i18n/messages.js';

interface ScannerProps {
  /** The code to point the camera at. */
  readonly hint: string;
  /** The advice where the camera cannot be used. */
  readonly instead: () => string;
  /** @returns the reason why the text is refused; null ends the scan */
  readonly read: (text: string) => Notice | null;
  /** Set where the camera is less than the field next to it. */
  readonly kind?: 'link';
}

export function Scanner(props: ScannerProps) {
  const [isOpen, open] = useState(false);
  const [notice, show] = useState<Notice | null>(null);
  const stop = (last: Notice | null) => {
    open(false);
    show(last);
  };
  // Undefined outside secure contexts.
  if ((navigator.mediaDevices as MediaDevices | undefined) === undefined) {
    return <p class="hint">{`${t.add.cameraUnsupported} ${props.instead()}`}</p>;
  }
  return (
    <>
      {isOpen ? (
        <Camera {...props} stop={stop} />
      ) : (
        <Button class={props.kind} onClick={() => open(true)} icon="camera" text={t.add.scan} />
      )}
      <NoticeLine notice={notice} />
    </>
  );
}

interface CameraProps extends ScannerProps {
  readonly stop: (last: Notice | null) => void;
}

function Camera({ hint, instead, read, stop }: CameraProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [notice, show] = useState<Notice | null>(null);
  const found = (text: string) => {
    const refusal = read(text);
    (refusal === null ? stop : show)(refusal);
  };
  useEffect(() => {
    const end = new AbortController();
    if (video.current !== null) {
      startReader(video.current, found, end.signal).catch((error: unknown) => {
        if (!end.signal.aborted) {
          stop(problem(() => `${reasonOf(error)} ${instead()}`));
        }
      });
    }
    return () => end.abort();
  }, []);
  return (
    <>
      <p>{hint}</p>
      <video ref={video} class="camera" playsInline muted />
      <NoticeLine notice={notice} />
      <Button onClick={() => stop(null)} text={t.add.stop} />
    </>
  );
}

function reasonOf(error: unknown): string {
  const { name } = error as DOMException;
  const { cameraDenied, cameraMissing, noCamera } = t.add;
  return { NotAllowedError: cameraDenied, NotFoundError: cameraMissing }[name] ?? noCamera;
}

/** Milliseconds between two scans of the camera picture. */
const PAUSE_MS = 150;

/** Reports each detected QR code until it is stopped. Rejects without a camera or permission. */
async function startReader(
  video: HTMLVideoElement,
  found: (text: string) => void,
  stop: AbortSignal,
): Promise<void> {
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { facingMode: 'environment' },
  });
  const release = () => stream.getTracks().forEach((track) => track.stop());
  stop.addEventListener('abort', release);
  if (stop.aborted) {
    release();
    return;
  }
  video.srcObject = stream;
  await video.play();
  const Detector = (await nativeDetector()) ?? (await import('qr/decode.js')).BarcodeDetector;
  const detector = new Detector({ formats: ['qr_code'] });
  let last = '';
  while (!stop.aborted) {
    const [seen] = await detector.detect(video);
    if (seen !== undefined && seen.rawValue !== last && !stop.aborted) {
      last = seen.rawValue;
      found(last);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** The Shape Detection API, where the browser supports QR codes. */
async function nativeDetector(): Promise<typeof QrDetector | null> {
  const { BarcodeDetector } = window as { readonly BarcodeDetector?: typeof QrDetector };
  const formats = (await BarcodeDetector?.getSupportedFormats()) ?? [];
  return formats.includes('qr_code') ? (BarcodeDetector ?? null) : null;
}
