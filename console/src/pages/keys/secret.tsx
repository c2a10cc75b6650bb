import { Command } from '../../parts/command';

/** A secret that the server returns this once. */
export function Secret({ secret }: { readonly secret: string }) {
  return (
    <div className="form" role="status">
      <p>
        <strong>Copy the secret now:</strong> it is shown this once, and only its hash is stored.
      </p>
      <Command text={secret} />
    </div>
  );
}
