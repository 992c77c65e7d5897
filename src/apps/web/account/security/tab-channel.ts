import { useLayoutEffect } from 'preact/hooks';

/**
 * Sends texts to the other tabs of this browser: a channel does not receive its own messages, and only pages of this
 * origin receive them.
 */
export function tabChannel(name: string) {
  let channel: BroadcastChannel | undefined;
  // Firefox throws where it blocks the storage of the page, so it is created when used.
  const open = () => (channel ??= new BroadcastChannel(name));
  return {
    send: (text: string) => open().postMessage(text),
    /** @param text the one to act on; undefined = none */
    useMessage(text: string | undefined, act: () => void): void {
      useLayoutEffect(() => {
        const tabs = text === undefined ? undefined : open();
        const onMessage = ({ data }: MessageEvent<unknown>) => data === text && act();
        tabs?.addEventListener('message', onMessage);
        return () => tabs?.removeEventListener('message', onMessage);
      }, [text]);
    },
  };
}
