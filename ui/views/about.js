/**
 * A sentence about the page; it is text, whatever a model is called.
 */

element.querySelector('.attend-about').textContent = props.value ?? '';
