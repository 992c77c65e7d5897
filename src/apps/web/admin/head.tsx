import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { brand } from '../brand.js';
import { useFocus } from '../ui/use-focus.js';
import type { Live } from './use-live.js';
import { texts } from './i18n/texts.js';

interface HeadProps {
  readonly title: string;
  /** The value on the page, whose age is shown. */
  readonly live?: Live<unknown>;
  readonly children?: ComponentChildren;
}

export function Head({ title, live, children }: HeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${brand.name}`;
  }, [title]);
  useFocus(heading);
  return (
    <div class="head">
      <div class="titled">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </div>
      {live !== undefined && <Freshness live={live} />}
    </div>
  );
}

export function Freshness({ live: { value, isFresh } }: { readonly live: Live<unknown> }) {
  return value === null ? null : (
    <span class={isFresh ? 'fresh' : 'fresh stale'} role="status" title={texts.live.hint}>
      {isFresh ? texts.live.fresh : texts.live.stale}
    </span>
  );
}
