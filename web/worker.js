/** The worker in which a model runs, so that the page never stalls. */

import { serve } from './service.js';

serve(/** @type {any} */ (self));
