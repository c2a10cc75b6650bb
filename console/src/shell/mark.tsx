/** The sign of the product. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 9h18M11 9v14M21 9v14M11 16h10" />
    </svg>
  );
}
