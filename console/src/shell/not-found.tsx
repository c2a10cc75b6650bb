import { Link } from '@tanstack/react-router';

export function NotFound() {
  return (
    <div className="empty">
      <p className="empty-title">There is no page at this address</p>
      <Link to="/">Go to the overview</Link>
    </div>
  );
}
