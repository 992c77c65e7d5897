import { Icon, type IconName } from './icon.js';

export interface BadgeProps {
  readonly tone?: 'good' | 'accent' | 'caution' | 'alarm';
  readonly icon: IconName;
  readonly text: string;
}

/** A state, with its icon. */
export function Badge({ tone, icon, text }: BadgeProps) {
  return (
    <span class={`badge ${tone ?? ''}`}>
      <Icon name={icon} />
      {text}
    </span>
  );
}
