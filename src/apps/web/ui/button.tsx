import type { ButtonHTMLAttributes } from 'preact';
import { Icon, type IconName } from './icon.js';

export interface ButtonProps extends Omit<ButtonHTMLAttributes, 'children' | 'icon'> {
  readonly text: string;
  readonly icon?: IconName | undefined;
}

/** Submits no form, unless its `type` says so. */
export function Button({ text, icon, ...button }: ButtonProps) {
  return (
    <button type="button" {...button}>
      {icon !== undefined && <Icon name={icon} />}
      {text}
    </button>
  );
}
