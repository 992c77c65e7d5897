import type { ComponentChildren } from 'preact';

interface SectionProps {
  readonly id: string;
  readonly title: string;
  readonly lead?: string;
  /** The action or state of the section, at the end of its head. */
  readonly action?: ComponentChildren;
  /** For a section that answers an action. */
  readonly role?: 'status';
  readonly children?: ComponentChildren;
}

export function Section({ id, title, lead, action, role, children }: SectionProps) {
  const heading = <h2 id={id}>{title}</h2>;
  const head =
    lead === undefined ? (
      heading
    ) : (
      <div class={action === undefined ? 'lead' : undefined}>
        {heading}
        <p class="quiet">{lead}</p>
      </div>
    );
  return (
    <section aria-labelledby={id} role={role}>
      {action === undefined ? (
        head
      ) : (
        <div class="card-head">
          {head}
          {action}
        </div>
      )}
      {children}
    </section>
  );
}
