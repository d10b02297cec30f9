import { Field } from './states.tsx';
import { useTexts } from './texts.ts';

/** The two fields of which every form about a sign-in is made. */
interface CredentialProps {
  value: string;
  onChange: (value: string) => void;
  /** Of the action that sends it. */
  error: unknown;
}

/** @param path name of the field in the request; "email" unless given */
export function EmailField({
  value,
  onChange,
  error,
  path = 'email',
  label,
}: CredentialProps & { path?: string; label?: string }) {
  const texts = useTexts();
  return (
    <Field label={label ?? texts.email} error={error} path={path}>
      {(attributes) => (
        <input
          {...attributes}
          name={path}
          type="email"
          autoComplete="email"
          required
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** @param isNew a password that is chosen now, with the hint how long it must be */
export function PasswordField({ value, onChange, error, isNew }: CredentialProps & { isNew: boolean }) {
  const texts = useTexts();
  return (
    <Field label={texts.password} hint={isNew ? texts.passwordHint : undefined} error={error} path="password">
      {(attributes) => (
        <input
          {...attributes}
          name="password"
          type="password"
          autoComplete={isNew ? 'new-password' : 'current-password'}
          required
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
