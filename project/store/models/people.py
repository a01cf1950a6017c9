from django.db import models
from django.utils import timezone


class Person(models.Model):
    first_name = models.CharField(max_length=40)
    last_name = models.CharField(max_length=40)
    email = models.EmailField(unique=True)
    phone = models.CharField(max_length=30, blank=True)
    fax = models.CharField(max_length=30, blank=True)
    address = models.CharField(max_length=80, blank=True)
    city = models.CharField(max_length=40, blank=True)
    state = models.CharField(max_length=40, blank=True)
    country = models.CharField(max_length=40, blank=True)
    postal_code = models.CharField(max_length=12, blank=True)

    class Meta:
        abstract = True
        ordering = ["last_name", "first_name"]

    def __str__(self) -> str:
        return f"{self.first_name} {self.last_name}"


class Employee(Person):
    title = models.CharField(max_length=40)
    reports_to = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="reports")
    birth_date = models.DateField()
    hire_date = models.DateField()


class Customer(Person):
    company = models.CharField(max_length=80, blank=True)
    support_rep = models.ForeignKey(Employee, models.SET_NULL, null=True, blank=True, related_name="customers")
    contacted_at = models.DateTimeField(null=True, blank=True, editable=False)
    erased_at = models.DateTimeField(null=True, blank=True, editable=False)

    def anonymise(self) -> None:
        """Overwrite everything that says who this is; the country stays, for statistics."""
        self.first_name, self.last_name = "Erased", "customer"
        self.email = f"customer-{self.pk}@erased.invalid"
        self.company = self.phone = self.fax = ""
        self.address = self.city = self.state = self.postal_code = ""
        self.erased_at = timezone.now()
