/** Parts of a result that a change of the routing policy does not bring about. */
export function NotChanged({ items }: { readonly items: readonly string[] }) {
  if (items.length === 0) return null;
  return (
    <p className="not-changed" role="note">
      Not changed by this: {items.join(', ')}. The result was simulated with them.
    </p>
  );
}
