import type { ComponentChildren } from 'preact';
import { Brand } from '../brand.js';
import { LanguageChoice } from './language-choice.js';

/** A page before the sign-in. */
export function Gate({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="gate">
      <header>
        <Brand withHost />
      </header>
      <main>{children}</main>
      <footer>
        <LanguageChoice />
      </footer>
    </div>
  );
}
