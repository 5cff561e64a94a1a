/** The one place from which OpenTelemetry is loaded, for the processes of a platform; the sidecar that an SDK runs has none. */
export const loadTracing = () => import('./trace-export.js')
