import type { BarcodeDetector as QrDetector } from 'qr/decode.js';

/** Between two looks at the picture of the camera. */
const PAUSE_MS = 150;

/**
 * Shows the camera and reports each QR code that it sees, until it is stopped. Rejects where there
 * is no camera, or no permission to use it.
 */
export async function startReader(
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

/** Of the Shape Detection API, where the browser has it and it reads QR codes. */
async function nativeDetector(): Promise<typeof QrDetector | null> {
  const { BarcodeDetector } = window as { readonly BarcodeDetector?: typeof QrDetector };
  const formats = (await BarcodeDetector?.getSupportedFormats()) ?? [];
  return formats.includes('qr_code') ? (BarcodeDetector ?? null) : null;
}
