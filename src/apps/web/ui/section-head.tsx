import type { ComponentChildren } from 'preact';

interface SectionHeadProps {
  readonly id: string;
  readonly title: string;
  readonly lead: string;
  /** The action of the section. */
  readonly children?: ComponentChildren;
}

export function SectionHead({ id, title, lead, children }: SectionHeadProps) {
  const text = (
    <div class={children === undefined ? 'lead' : undefined}>
      <h2 id={id}>{title}</h2>
      <p class="quiet">{lead}</p>
    </div>
  );
  return children === undefined ? (
    text
  ) : (
    <div class="card-head">
      {text}
      {children}
    </div>
  );
}
