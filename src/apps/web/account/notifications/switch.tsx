import type { TargetedEvent, TargetedMouseEvent } from 'preact';
import { useId } from 'preact/hooks';

interface SwitchProps {
  readonly label: string;
  readonly hint?: string;
  readonly isOn: boolean;
  readonly isBusy: boolean;
  readonly set: (isOn: boolean) => void;
}

export function Switch({ label, hint, isOn, isBusy, set }: SwitchProps) {
  const id = useId();
  const change = ({ currentTarget }: TargetedEvent<HTMLInputElement>) => {
    const wanted = currentTarget.checked;
    currentTarget.checked = isOn;
    set(wanted);
  };
  // A disabled switch would lose the keyboard focus.
  const onClick = (event: TargetedMouseEvent<HTMLInputElement>) => {
    if (isBusy) {
      event.preventDefault();
    }
  };
  return (
    <div class="setting">
      <label class="check">
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          aria-describedby={hint === undefined ? undefined : id}
          onClick={onClick}
          onChange={change}
        />
        {label}
      </label>
      {hint !== undefined && (
        <p id={id} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
