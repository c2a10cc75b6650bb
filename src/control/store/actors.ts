/** The actor of changes that the control plane makes by itself. */
export const CONTROL_PLANE = 'control-plane';
