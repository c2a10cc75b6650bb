import { Menu } from '@base-ui/react/menu';
import { useMutation } from '@tanstack/react-query';
import type { ApiFailure } from '../api/client';
import { useSession } from '../api/queries';
import { logOut } from '../api/session';
import { Button } from '../parts/basics';
import { Dialog } from '../parts/dialog';
import { Failure } from '../parts/states';
import { openTour } from './tour/tour-state';

/** Who has logged in, and the way out. */
export function VisitorMenu() {
  const { data } = useSession();
  const leaving = useMutation<void, ApiFailure>({ mutationFn: logOut });
  if (data === null || data === undefined) return null;
  const { expires_at, name, role, version, workspaces } = data;
  const own = Object.entries(workspaces);
  return (
    <>
      <Menu.Root>
        <Menu.Trigger className="button button-quiet visitor" aria-label={`Logged in as ${name}`}>
          {name}
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={6} align="end" className="menu-positioner">
            <Menu.Popup className="menu">
              <div className="menu-facts">
                <p>
                  <strong>{name}</strong>
                </p>
                <p className="muted">
                  {role === 'none' ? '' : `${role} everywhere`}
                  {own.map(([workspace, one]) => ` ${one} in ${workspace}`).join(',')}
                </p>
                {expires_at === null ? null : (
                  <p className="muted">until {expires_at.slice(0, 16).replace('T', ' ')} UTC</p>
                )}
                <p className="muted">Twinyard {version}</p>
              </div>
              <Menu.Item className="menu-item" onClick={openTour}>
                Guided tour
              </Menu.Item>
              <Menu.Item className="menu-item" onClick={() => leaving.mutate()}>
                Log out
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <Dialog title="You are still logged in" isOpen={leaving.error !== null} onClose={leaving.reset}>
        {leaving.error === null ? null : <Failure error={leaving.error} onRetry={() => leaving.mutate()} />}
        <div className="dialog-actions">
          <Button onClick={leaving.reset}>Close</Button>
        </div>
      </Dialog>
    </>
  );
}
